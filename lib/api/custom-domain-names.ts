import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { DomainNames } from '../environment';

export interface CustomDomainNamesProps {
  readonly domainNames: DomainNames;
  /** The API behind each name. */
  readonly apis: Readonly<Record<'api' | 'dashboard', RestApi>>;
}

/**
 * Custom domain names for the API and the dashboard, in the region: certificate, endpoints, and the records that lead
 * there, if the stack was given the zone. The names that API Gateway gives serve nothing then (`regionalRestApi`).
 */
export class CustomDomainNames extends Construct {
  /** What each name has to lead to, by a CNAME record or an alias. */
  readonly targets: Readonly<Record<'api' | 'dashboard', string>>;

  constructor(scope: Construct, id: string, { domainNames, apis }: CustomDomainNamesProps) {
    super(scope, id);
    const { api, dashboard, hostedZone } = domainNames;
    const zone =
      hostedZone &&
      HostedZone.fromHostedZoneAttributes(this, 'Zone', {
        hostedZoneId: hostedZone.id,
        zoneName: hostedZone.name,
      });
    const certificate = this.certificate(domainNames, zone);
    this.targets = {
      api: this.serve('Api', { name: api, restApi: apis.api, certificate, zone }),
      dashboard: this.serve('Dashboard', { name: dashboard, restApi: apis.dashboard, certificate, zone }),
    };
  }

  private certificate({ api, dashboard, certificateArn }: DomainNames, zone?: IHostedZone): ICertificate {
    return certificateArn === undefined
      ? new Certificate(this, 'Certificate', {
          domainName: api,
          subjectAlternativeNames: [dashboard],
          validation: CertificateValidation.fromDns(zone),
        })
      : Certificate.fromCertificateArn(this, 'Certificate', certificateArn);
  }

  /** @returns what the name has to lead to */
  private serve(id: string, { name, restApi, certificate, zone }: ServedName): string {
    const domain = new DomainName(this, id, {
      domainName: name,
      certificate,
      endpointType: EndpointType.REGIONAL,
      // As the APIs have it: TLS 1.2 and 1.3, see docs/decisions/api.md.
      securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
      endpointAccessMode: EndpointAccessMode.STRICT,
    });
    domain.addBasePathMapping(restApi, { stage: restApi.deploymentStage });
    if (zone) {
      const target = RecordTarget.fromAlias(new ApiGatewayDomain(domain));
      new ARecord(this, `${id}Record`, { zone, recordName: name, target });
    }
    return domain.domainNameAliasDomainName;
  }
}

interface ServedName {
  readonly name: string;
  readonly restApi: RestApi;
  readonly certificate: ICertificate;
  readonly zone: IHostedZone | undefined;
}
