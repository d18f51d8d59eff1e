import { isAbsent, isOneOf, propertyRule } from '../property-rule';

/** Services that process or store at edge locations, wherever those are, or that belong to no region. */
export const edgeService = propertyRule({
  id: 'edge-service',
  refuses: 'A service at edge locations, outside of any region',
  remedy: 'Serve from the region itself; a web ACL has the scope REGIONAL.',
  types: [
    /^AWS::CloudFront::/,
    /^AWS::GlobalAccelerator::/,
    // Classic; its regional sister is AWS::WAFRegional.
    /^AWS::WAF::/,
    /^AWS::Amplify::/,
    // Behind CloudFront: https://docs.aws.amazon.com/appsync/latest/devguide/custom-domain-name.html
    /^AWS::AppSync::DomainName/,
    /^AWS::ECR::PublicRepository$/,
  ],
  checks: [
    ...['WebACL', 'IPSet', 'RuleGroup', 'RegexPatternSet'].map((name) => ({
      type: `AWS::WAFv2::${name}`,
      path: 'Scope',
      accepts: isOneOf('REGIONAL'),
    })),
    { type: 'AWS::S3::Bucket', path: 'AccelerateConfiguration', accepts: isAbsent },
    // Behind CloudFront: https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-add-custom-domain.html
    { type: 'AWS::Cognito::UserPoolDomain', path: 'CustomDomainConfig', accepts: isAbsent },
  ],
});
