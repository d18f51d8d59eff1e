import type { Message } from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';

/** A message as `ReceiveMessage` gives it. */
export type ReceivedMessage = Message & { readonly MessageId: string; readonly ReceiptHandle: string };

/**
 * A message as Lambda gives it to a function.
 *
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
 */
export function sqsRecord(
  message: ReceivedMessage,
  { queueArn, region }: { readonly queueArn: string; readonly region: string },
): SQSRecord {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body ?? '',
    attributes: (message.Attributes ?? {}) as unknown as SQSRecord['attributes'],
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(
        ([name, { StringValue, BinaryValue, DataType = '' }]) => [
          name,
          {
            ...(StringValue !== undefined && { stringValue: StringValue }),
            // In base64 already: SQS's JSON protocol has no bytes.
            ...(BinaryValue !== undefined && { binaryValue: String(BinaryValue) }),
            stringListValues: [],
            binaryListValues: [],
            dataType: DataType,
          },
        ],
      ),
    ),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
