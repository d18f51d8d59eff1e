import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { DomainNames } from '../environment/schema';

export interface CustomDomainNamesProps {
  readonly domainNames: DomainNames;
  readonly apis: Readonly<Record<'api' | 'dashboard', RestApi>>;
}

/** Custom domain names for the API and the dashboard, in the region, with DNS records if the row has a hosted zone. */
export class CustomDomainNames extends Construct {
  /** The target of each name's CNAME record or alias. */
  readonly targets: Readonly<Record<'api' | 'dashboard', string>>;

  constructor(scope: Construct, id: string, { domainNames, apis }: CustomDomainNamesProps) {
    super(scope, id);
    const { zone, certificate } = createCertificate(this, domainNames);
    const addName = (id: string, domainName: string, restApi: RestApi): string => {
      const domain = new DomainName(this, id, {
        domainName,
        certificate,
        endpointType: EndpointType.REGIONAL,
        // The APIs' policy, TLS 1.2 and 1.3: docs/decisions/api.md.
        securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
        endpointAccessMode: EndpointAccessMode.STRICT,
      });
      domain.addBasePathMapping(restApi, { stage: restApi.deploymentStage });
      if (zone) {
        const target = RecordTarget.fromAlias(new ApiGatewayDomain(domain));
        new ARecord(this, `${id}Record`, { zone, recordName: domainName, target });
      }
      return domain.domainNameAliasDomainName;
    };
    this.targets = {
      api: addName('Api', domainNames.api, apis.api),
      dashboard: addName('Dashboard', domainNames.dashboard, apis.dashboard),
    };
  }
}

/** The row's certificate, or a new one for both names, which its hosted zone validates. Also prepared in a standby. */
export function createCertificate(scope: Construct, domainNames: DomainNames) {
  const { api, dashboard, hostedZone, certificateArn } = domainNames;
  const zone =
    hostedZone &&
    HostedZone.fromHostedZoneAttributes(scope, 'Zone', {
      hostedZoneId: hostedZone.id,
      zoneName: hostedZone.name,
    });
  const certificate =
    certificateArn === undefined
      ? new Certificate(scope, 'Certificate', {
          domainName: api,
          subjectAlternativeNames: [dashboard],
          validation: CertificateValidation.fromDns(zone),
        })
      : Certificate.fromCertificateArn(scope, 'Certificate', certificateArn);
  return { zone, certificate };
}
