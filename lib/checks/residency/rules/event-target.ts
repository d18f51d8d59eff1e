import { isAbsentOr, isOneOf, propertyRule, staysInRegion } from '../property-rule';

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cross-region.html */
export const eventTarget = propertyRule({
  id: 'event-target-elsewhere',
  refuses: 'Events or messages that go to, or come from, another region',
  remedy: "Use a target in the stack's own region.",
  checks: [
    { type: 'AWS::Events::Rule', path: 'Targets', holds: staysInRegion },
    { type: 'AWS::Events::Rule', path: 'EventBusName', holds: staysInRegion },
    { type: 'AWS::Events::Archive', path: 'SourceArn', holds: staysInRegion },
    { type: 'AWS::Scheduler::Schedule', path: 'Target', holds: staysInRegion },
    { type: 'AWS::Pipes::Pipe', path: 'Source', holds: staysInRegion },
    { type: 'AWS::Pipes::Pipe', path: 'Target', holds: staysInRegion },
    { type: 'AWS::SNS::Subscription', path: 'TopicArn', holds: staysInRegion },
    { type: 'AWS::SNS::Subscription', path: 'Endpoint', holds: staysInRegion },
    {
      type: 'AWS::SNS::Subscription',
      path: 'Region',
      holds: isAbsentOr((value, template) => isOneOf(template.boundary.region)(value, template)),
    },
    { type: 'AWS::SNS::Topic', path: 'Subscription', holds: staysInRegion },
    { type: 'AWS::Lambda::EventInvokeConfig', path: 'DestinationConfig', holds: staysInRegion },
    { type: 'AWS::Lambda::EventSourceMapping', path: 'EventSourceArn', holds: staysInRegion },
  ],
});
