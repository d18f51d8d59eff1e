import { expectFromOrigin } from '../../../cli/smoke/delivery';
import { expectOrigins } from '../../../cli/smoke/origins';
import { openTarget } from '../../../cli/target';
import { writeResult } from '../../support/query-protocol';
import { first } from '../../support/rows';
import { startAwsEndpoint } from '../aws-endpoint';

const [address, reserve] = ['203.0.113.7', '203.0.113.8'];
let aws: Awaited<ReturnType<typeof startAwsEndpoint>>;
beforeAll(async () => {
  aws = await startAwsEndpoint((url) => ({
    [first.stackId]: {
      ApiBaseUrl: url,
      WebhookOriginAddress: address,
      WebhookOriginReserveAddress: reserve,
    },
  }));
});
afterAll(() => aws.close());

const target = () => openTarget({ environment: first.name, outputs: aws.outputs }, { note: () => undefined });

describe('the source of a delivery', () => {
  /** Comes from this address, of a stack whose parameter has this value. */
  async function delivered(from: string, ParameterValue: string) {
    aws.answer(() =>
      writeResult('query', 'DescribeStacks', {
        Stacks: [
          {
            StackId: `arn:aws:cloudformation:${first.region}:000000000000:stack/${first.stackId}/1`,
            Parameters: [
              { ParameterKey: 'WebhookOriginZone', ParameterValue: '2' },
              { ParameterKey: 'WebhookOriginUsesReserve', ParameterValue },
            ],
            Outputs: [{ OutputKey: 'WebhookOriginAddress', OutputValue: address }],
          },
        ],
      }),
    );
    const arrival = { method: 'POST', from, headers: {}, body: '' };
    return expectFromOrigin(await target(), arrival);
  }

  it('may be the reserve while that is in use', async () => {
    expect(await delivered(reserve, 'yes')).toEqual({
      value: reserve,
      detail: `${reserve}, the reserve, which is in use`,
    });
  });

  it('may not be the reserve at any other time', async () => {
    await expect(delivered(reserve, 'no')).rejects.toThrow(
      `from the reserve ${reserve}, which stack ${first.stackId} has not put in use: receivers expect ${address}.`,
    );
  });

  it('may be the one address at any time, for which nothing is asked', async () => {
    for (const isInUse of ['yes', 'no']) {
      expect(await delivered(address, isInUse)).toEqual({ value: address, detail: address });
      expect(aws.requests).toEqual([]);
    }
  });

  it('may be no other', async () => {
    await expect(delivered('203.0.113.9', 'yes')).rejects.toThrow(`from 203.0.113.9, not from ${address}`);
  });
});

describe('GET /webhook-origins', () => {
  async function told(origins: object) {
    const body = { environment: first.name, addresses: [`${address}/32`], ...origins };
    aws.answer(({ url }) => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(url === '/webhook-origins' ? body : [body]),
    }));
    return expectOrigins(await target(), new AbortController().signal);
  }

  it('has to tell the reserve of the outputs', async () => {
    const { detail } = await told({ reserve: [`${reserve}/32`] });
    expect(detail).toBe(`${address}/32, reserve ${reserve}/32`);
  });

  it.each([{}, { reserve: ['203.0.113.9/32'] }, { addresses: [`${address}/32`, `${reserve}/32`] }])(
    'does not pass with %j',
    async (origins) => {
      await expect(told(origins)).rejects.toThrow(`"reserve":["${reserve}/32"]} is due`);
    },
  );
});
