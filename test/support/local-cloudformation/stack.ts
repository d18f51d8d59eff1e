import type { Account } from './account';
import { type Context, resourceType } from './resources';
import { continueRollback, type Rollback } from './rollback';
import type { Json, Parameters, Template, WantedResource } from './template';
import { updateStack } from './update';

/** A resource that exists. */
export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  physicalId: string;
  attributes: Readonly<Record<string, string>>;
  /** With references replaced by physical ids. */
  properties: Json;
  status: string;
}

export interface StackEvent {
  readonly id: string;
  readonly time: Date;
  readonly logicalId: string;
  readonly physicalId: string;
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly token: string | undefined;
}

/** Has a step of a resource fail: the next one of this type and action. */
export interface PlannedFailure {
  readonly type: string;
  readonly action: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly reason: string;
  /** @default - any resource of the type */
  readonly logicalId?: RegExp;
  /** Whether it is a step of a rollback. @default - either */
  readonly inRollback?: boolean;
}

/**
 * One CloudFormation stack of the synthesized template. It goes a step further whenever `tick` is called, so an update
 * can be looked at, and interrupted, between any two steps.
 */
export class Stack {
  readonly id: string;
  status = 'CREATE_COMPLETE';
  parameters: Parameters;
  readonly capabilities = ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM', 'CAPABILITY_AUTO_EXPAND'];
  readonly resources = new Map<string, StackResource>();
  readonly events: StackEvent[] = [];
  readonly plannedFailures: PlannedFailure[] = [];
  /** Tokens that were taken, with the zone that they were for. */
  readonly tokens = new Map<string, string>();
  /** Of the update that runs or ran last. */
  private token: string | undefined;
  private operation: Generator<undefined, void> | undefined;
  /** The update that runs is to be given up at its next step. */
  isCancelled = false;
  /** Whether the events after a cancellation have its token: AWS does not say. They have the update's otherwise. */
  rollbackHasOwnToken = true;
  /** Of a stack that is `UPDATE_ROLLBACK_FAILED`. */
  failedRollback: Rollback | undefined;
  /** Milliseconds since 1970. It goes ahead with each `tick`. */
  now = Date.now();
  /** Milliseconds of a tick while nothing but a gateway in a dead zone is waited for: hours take no thousand calls. */
  stuckTick = 60_000;

  constructor(
    readonly name: string,
    readonly template: Template,
    readonly account: Account,
  ) {
    this.id = `arn:aws:cloudformation:eu-central-1:000000000000:stack/${name}/0f0f0f0f-0000-4000-8000-000000000000`;
    this.parameters = Object.fromEntries(
      Object.entries(template.parameters).map(([key, { Default = '' }]) => [key, Default]),
    );
    for (const wanted of template.resources(this.parameters)) this.createAtOnce(wanted);
    this.record('CREATE_COMPLETE');
  }

  get busy(): boolean {
    return this.operation !== undefined;
  }

  /** Time passes: the update under way, if there is one, takes a step, and consumers take messages. */
  tick(): void {
    this.now += this.account.isStuck ? this.stuckTick : 4_000;
    this.account.pass(this.now);
    if (this.operation?.next().done) this.operation = undefined;
  }

  /** Lets the update under way come to its end. */
  settle(): void {
    while (this.busy) this.tick();
  }

  begin(parameters: Parameters, token: string | undefined): void {
    this.token = token;
    this.isCancelled = false;
    this.operation = updateStack(this, parameters);
    this.tick();
  }

  cancel(token: string | undefined): void {
    this.token = token ?? this.token;
    this.isCancelled = true;
  }

  continueRollback(rollback: Rollback, skipped: readonly string[], token: string | undefined): void {
    this.token = token;
    this.isCancelled = false;
    this.operation = continueRollback(this, rollback, skipped);
    this.tick();
  }

  /** Whether a step is to fail, and why. */
  takePlannedFailure(
    { type, logicalId }: StackResource,
    action: PlannedFailure['action'],
  ): PlannedFailure | undefined {
    const isRollback = this.status.startsWith('UPDATE_ROLLBACK');
    const index = this.plannedFailures.findIndex(
      (planned) =>
        planned.type === type &&
        planned.action === action &&
        (planned.logicalId?.test(logicalId) ?? true) &&
        (planned.inRollback ?? isRollback) === isRollback,
    );
    return index < 0 ? undefined : this.plannedFailures.splice(index, 1)[0];
  }

  contextOf({ logicalId }: Pick<StackResource, 'logicalId'>): Omit<Context, 'began'> {
    return {
      name: `${this.name}-${logicalId}`,
      tags: { 'aws:cloudformation:stack-id': this.id, 'aws:cloudformation:logical-id': logicalId },
    };
  }

  /** Deletes the stack, and what does not outlive it. */
  delete(): void {
    for (const { logicalId, type, retained } of this.template.resources(this.parameters).toReversed()) {
      const resource = this.resources.get(logicalId);
      if (resource && !retained) this.finish(resourceType(type).delete(this.account, resource.physicalId));
      this.resources.delete(logicalId);
    }
    this.record('DELETE_COMPLETE');
  }

  /** The outputs that tell the addresses. */
  get originOutputs(): Record<string, string> {
    const names = Object.keys(this.template.outputs).filter((name) => /^WebhookOrigin\w*Address$/.test(name));
    return Object.fromEntries(names.map((name) => [name, this.output(name)]));
  }

  /** The output as it is now. */
  output(name: string): string {
    return String(this.resolved(this.template.outputs[name]?.Value));
  }

  resolved(value: Json): Json {
    const { resolve } = this.template.resolver(this.parameters, (logicalId, attribute) => {
      const { physicalId, attributes } = this.resources.get(logicalId) ?? {};
      if (attribute === undefined) return physicalId;
      // The template takes ARNs apart.
      return attributes?.[attribute] ?? `arn:aws:any:eu-central-1:000000000000:${physicalId}.${attribute}`;
    });
    return resolve(value, this.name);
  }

  /** Records an event of the stack itself, which takes that status, or of a resource. */
  record(status: string, { resource, reason }: { resource?: StackResource; reason?: string } = {}): void {
    if (resource) resource.status = status;
    else this.status = status;
    this.events.unshift({
      id: `event-${this.events.length}`,
      time: new Date(this.now),
      logicalId: resource?.logicalId ?? this.name,
      physicalId: resource?.physicalId ?? this.id,
      type: resource?.type ?? 'AWS::CloudFormation::Stack',
      status,
      reason,
      token: this.token,
    });
  }

  private createAtOnce(wanted: WantedResource): void {
    const { logicalId, type } = wanted;
    const properties = this.resolved(wanted.properties);
    const context = { ...this.contextOf(wanted), began() {} };
    const made = this.finish(resourceType(type).create(this.account, properties, context));
    this.resources.set(logicalId, { logicalId, type, properties, ...made, status: 'CREATE_COMPLETE' });
  }

  /** Lets all the time pass that something takes. */
  private finish<Result>(work: Generator<undefined, Result>): Result {
    let step = work.next();
    for (; !step.done; step = work.next()) this.account.pass(this.now);
    return step.value;
  }
}
