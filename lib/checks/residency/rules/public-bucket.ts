import { isAbsentOr, isOneOf, isTrue, propertyRule } from '../property-rule';

const blocks = ['BlockPublicAcls', 'BlockPublicPolicy', 'IgnorePublicAcls', 'RestrictPublicBuckets'];

/**
 * A bucket without any setting blocks all public access; one with some of the four is open by the others.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
 */
export const publicBucket = propertyRule({
  id: 'public-bucket',
  refuses: 'A bucket that may be opened to everybody',
  remedy: 'Block all public access, and use no public access control list.',
  checks: ['AWS::S3::Bucket', 'AWS::S3::AccessPoint'].flatMap((type) => [
    {
      type,
      path: 'AccessControl',
      accepts: isAbsentOr(
        isOneOf('Private', 'BucketOwnerRead', 'BucketOwnerFullControl', 'LogDeliveryWrite', 'AwsExecRead'),
      ),
    },
    ...blocks.map((block) => ({
      type,
      // As one list, so that a bucket without the setting has nothing to check.
      path: `PublicAccessBlockConfiguration.*.${block}`,
      accepts: isTrue,
    })),
  ]),
});
