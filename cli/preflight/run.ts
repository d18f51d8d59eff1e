import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { STS } from '@aws-sdk/client-sts';
import type { AssembledStack } from '../assembly';
import { AwsCallFailed, callAws, unlessRefused } from '../aws';
import { listStackResources } from '../deployed-stack';
import { CommandFailed } from '../failure';
import { clientSettings } from '../target';
import { type Answer, type Check, type Context, failed, notAsked } from './check';
import { accountChecks, stackChecks } from './checks';

type Environment = Context['environment'];

/** @throws CommandFailed without credentials that AWS takes */
export async function whoAmI(environment: Environment): Promise<Context['caller']> {
  try {
    // Not in the environment's region, which may be off. Nobody can be denied the call.
    // https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
    const { Account = '', Arn = '' } = await callAws(
      { environment, local: false },
      'sts:GetCallerIdentity',
      (options) => new STS(clientSettings('us-east-1')).getCallerIdentity({}, options),
    );
    return { account: Account, arn: Arn };
  } catch (error) {
    if (!(error instanceof AwsCallFailed) || !/Credentials|Token|Signature|Expired/.test(error.errorName))
      throw error;
    throw new CommandFailed(
      `Sign in to the account of ${environment.name} ("aws sso login", AWS_PROFILE): ${error.message}`,
    );
  }
}

export interface Finding {
  readonly check: Check;
  /** Undefined for a check of the account. */
  readonly stack: AssembledStack | undefined;
  readonly answer: Answer;
}

/** Asks all checks: those of the account, then those of each stack at once. */
export async function askAll(
  environment: Environment,
  stacks: readonly AssembledStack[],
  caller: Context['caller'],
): Promise<readonly Finding[]> {
  const contexts = stacks.map((stack) => contextOf(environment, stack, caller));
  const account = await askGroup(accountChecks, contexts[0] as Context);
  const isOther = account[0]?.answer.outcome === 'failed';
  const rest = await Promise.all(contexts.map((context) => askGroup(stackChecks, context, isOther)));
  return [...account.map((finding) => ({ ...finding, stack: undefined })), ...rest.flat()];
}

/** The first decides whether the others are asked. */
async function askGroup(
  [first, ...others]: readonly Check[],
  context: Context,
  isBlocked = false,
): Promise<readonly Finding[]> {
  const { stack } = context;
  const skipped = notAsked('skipped: the account or the region is not right');
  const ask = async (check: Check, skip: boolean) => ({
    check,
    stack,
    answer: skip ? skipped : await answerOf(check, context),
  });
  const decisive = await ask(first as Check, isBlocked);
  const skip = isBlocked || decisive.answer.outcome === 'failed';
  return [decisive, ...(await Promise.all(others.map((check) => ask(check, skip))))];
}

async function answerOf(check: Check, context: Context): Promise<Answer> {
  try {
    return await check.ask(context);
  } catch (error) {
    if (!(error instanceof AwsCallFailed)) throw error;
    const found = error.message.replace(/\.$/, '');
    // Of a new account that is not verified yet.
    return /^(OptInRequired|PendingVerification|SubscriptionRequiredException)$/.test(error.errorName)
      ? failed(found, error.remedy ?? '')
      : notAsked(found, error.remedy);
  }
}

function contextOf(environment: Environment, stack: AssembledStack, caller: Context['caller']): Context {
  const settings = clientSettings(stack.region);
  const call: Context['call'] = (action, send) => callAws({ environment, local: false }, action, send);
  const describe = async () => {
    const cloudFormation = new CloudFormation(settings);
    // CloudFormation has no error of its own for a stack that is missing.
    const answer = await unlessRefused(/^ValidationError$/, () =>
      call('cloudformation:DescribeStacks', (options) =>
        cloudFormation.describeStacks({ StackName: stack.name }, options),
      ),
    );
    const status = answer?.Stacks?.[0]?.StackStatus;
    if (status === undefined) return undefined;
    const resources = await call('cloudformation:ListStackResources', (options) =>
      listStackResources(cloudFormation, stack.name, options),
    );
    return { status, resources };
  };
  let deployed: ReturnType<typeof describe> | undefined;
  return {
    environment,
    caller,
    stack,
    zones: (stack.name === environment.stackId ? environment : environment.standby)?.zones ?? [],
    settings,
    call,
    deployed() {
      deployed ??= describe();
      return deployed;
    },
  };
}
