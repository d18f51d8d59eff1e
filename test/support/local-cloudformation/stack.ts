import type { Account } from './account';
import { resourceType } from './resources';
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
  private clock = Date.parse('2026-11-20T12:00:00Z');

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
    this.clock += 4_000;
    if (this.operation?.next().done) this.operation = undefined;
    this.account.consume();
  }

  /** Lets the update under way come to its end. */
  settle(): void {
    while (this.busy) this.tick();
  }

  begin(parameters: Parameters, token: string | undefined): void {
    this.token = token;
    this.operation = updateStack(this, parameters);
    this.tick();
  }

  /** Deletes the stack, and what does not outlive it. */
  delete(): void {
    for (const { logicalId, type, retained } of this.template.resources(this.parameters).toReversed()) {
      const resource = this.resources.get(logicalId);
      if (resource && !retained) finish(resourceType(type).delete(this.account, resource.physicalId));
      this.resources.delete(logicalId);
    }
    this.record('DELETE_COMPLETE');
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
      time: new Date(this.clock),
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
    const made = finish(resourceType(type).create(this.account, properties, `${this.name}-${logicalId}`));
    this.resources.set(logicalId, { logicalId, type, properties, ...made, status: 'CREATE_COMPLETE' });
  }
}

/** Lets all the time pass that something takes. */
function finish<Result>(work: Generator<undefined, Result>): Result {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}
