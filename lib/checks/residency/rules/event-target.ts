import { isAbsentOr, isOwnRegion, propertyRule, staysInRegion } from '../property-rule';

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cross-region.html */
export const eventTarget = propertyRule({
  id: 'event-target-elsewhere',
  refuses: 'Events or messages that go to, or come from, another region',
  remedy: "Use a target in the stack's own region.",
  checks: [
    { type: 'AWS::Events::Rule', path: 'Targets', accepts: staysInRegion },
    { type: 'AWS::Events::Rule', path: 'EventBusName', accepts: staysInRegion },
    { type: 'AWS::Events::Archive', path: 'SourceArn', accepts: staysInRegion },
    { type: 'AWS::Scheduler::Schedule', path: 'Target', accepts: staysInRegion },
    { type: 'AWS::Pipes::Pipe', path: 'Source', accepts: staysInRegion },
    { type: 'AWS::Pipes::Pipe', path: 'Target', accepts: staysInRegion },
    { type: 'AWS::SNS::Subscription', path: 'TopicArn', accepts: staysInRegion },
    { type: 'AWS::SNS::Subscription', path: 'Endpoint', accepts: staysInRegion },
    { type: 'AWS::SNS::Subscription', path: 'Region', accepts: isAbsentOr(isOwnRegion) },
    { type: 'AWS::SNS::Topic', path: 'Subscription', accepts: staysInRegion },
    { type: 'AWS::Lambda::EventInvokeConfig', path: 'DestinationConfig', accepts: staysInRegion },
    { type: 'AWS::Lambda::EventSourceMapping', path: 'EventSourceArn', accepts: staysInRegion },
  ],
});
