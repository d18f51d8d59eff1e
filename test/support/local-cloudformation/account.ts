/** EC2's and Lambda's part of an AWS account in one region, as far as a webhook origin needs it. */
export interface Gateway {
  readonly id: string;
  state: 'pending' | 'available' | 'failed' | 'deleting' | 'deleted';
  readonly subnetId: string;
  readonly allocationId: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface ElasticIp {
  readonly allocationId: string;
  readonly address: string;
  /** Id of the gateway or of whatever else has it. */
  heldBy?: string | undefined;
}

export interface EventSourceMapping {
  readonly id: string;
  readonly functionName: string;
  readonly queueName: string;
  state: 'Enabled' | 'Enabling' | 'Disabled' | 'Disabling';
}

/** A message that reached its receiver, and the address that the receiver saw. */
export interface ReceivedRequest {
  readonly message: string;
  readonly from: string;
}

export class Account {
  readonly addresses = new Map<string, ElasticIp>();
  readonly gateways = new Map<string, Gateway>();
  /** Zones by the id of their subnet. */
  readonly subnets = new Map<string, string>();
  readonly mappings = new Map<string, EventSourceMapping>();
  /** Route to gateway, of the private subnets. */
  readonly routes = new Map<string, string>();
  /** Messages by the name of their queue. */
  readonly queues = new Map<string, string[]>();
  readonly arrivals: ReceivedRequest[] = [];
  /** Zones that are gone, and until when (milliseconds since 1970): their gateways stay in the state that they are in. */
  readonly deadZones = new Map<string, number>();
  private now = 0;
  private made = 0;

  nextId(prefix: string): string {
    this.made += 1;
    return `${prefix}-${this.made.toString(16).padStart(17, '0')}`;
  }

  addAddress(address: string): ElasticIp {
    const added = { allocationId: this.nextId('eipalloc'), address };
    this.addresses.set(added.allocationId, added);
    return added;
  }

  /** @throws Error with EC2's words when another gateway has the address. */
  beginGateway(subnetId: string, allocationId: string, tags: Gateway['tags']): Gateway {
    const address = this.addresses.get(allocationId);
    const id = this.nextId('nat');
    const gateway: Gateway = { id, state: 'pending', subnetId, allocationId, tags };
    this.gateways.set(id, gateway);
    if (!address || address.heldBy !== undefined) {
      gateway.state = 'failed';
      throw new Error(
        `NatGateway ${id} is in state failed and hence failed to stabilize. Detailed failure message: ` +
          `Elastic IP address [${allocationId}] ${address ? 'is already associated' : 'does not exist'}`,
      );
    }
    address.heldBy = id;
    return gateway;
  }

  /** Time passes: gateways become available and are deleted, unless their zone is gone. */
  pass(now: number): void {
    this.now = now;
    for (const gateway of this.gateways.values()) {
      if (this.isDead(gateway)) continue;
      if (gateway.state === 'pending') gateway.state = 'available';
      if (gateway.state === 'deleting') this.endGateway(gateway);
    }
    this.consume();
  }

  /** EC2 lets go of the address when the gateway is deleted, not before. */
  endGateway(gateway: Gateway): void {
    gateway.state = 'deleted';
    const address = this.addresses.get(gateway.allocationId);
    if (address?.heldBy === gateway.id) address.heldBy = undefined;
  }

  /** Whether a gateway would be made or deleted by now, were its zone not gone. */
  get isStuck(): boolean {
    return [...this.gateways.values()].some(
      (gateway) => /pending|deleting/.test(gateway.state) && this.isDead(gateway),
    );
  }

  private isDead({ subnetId }: Gateway): boolean {
    return (this.deadZones.get(this.subnets.get(subnetId) ?? '') ?? 0) > this.now;
  }

  /** The address that traffic of the private subnets comes from now, if there is a way out. */
  get egress(): string | undefined {
    const [gatewayId, ...others] = new Set(this.routes.values());
    if (gatewayId === undefined || others.length > 0) return undefined;
    const gateway = this.gateways.get(gatewayId);
    if (!gateway || this.isDead(gateway)) return undefined;
    return gateway.state === 'available' ? this.addresses.get(gateway.allocationId)?.address : undefined;
  }

  /** Lets consumers that are on take what waits for them. What finds no way out stays where it was. */
  private consume(): void {
    for (const { state, queueName } of this.mappings.values()) {
      const messages = this.queues.get(queueName);
      if (state !== 'Enabled' || !messages?.length) continue;
      const from = this.egress;
      if (from !== undefined) this.arrivals.push(...messages.splice(0).map((message) => ({ message, from })));
    }
  }
}
