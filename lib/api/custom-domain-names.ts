import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Construct } from 'constructs';
import type { DomainNames } from '../environment/schema';

export interface CustomDomainNamesProps {
  readonly domainNames: DomainNames;
  readonly apis: Readonly<Record<'api' | 'dashboard', RestApi>>;
}

/** Custom domain names for the API and the dashboard, in the region. Their owner adds the CNAME records. */
export class CustomDomainNames extends Construct {
  /** The target of each name's CNAME record. */
  readonly targets: Readonly<Record<'api' | 'dashboard', string>>;

  constructor(scope: Construct, id: string, { domainNames, apis }: CustomDomainNamesProps) {
    super(scope, id);
    const certificate = Certificate.fromCertificateArn(this, 'Certificate', domainNames.certificateArn);
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
      return domain.domainNameAliasDomainName;
    };
    this.targets = {
      api: addName('Api', domainNames.api, apis.api),
      dashboard: addName('Dashboard', domainNames.dashboard, apis.dashboard),
    };
  }
}
