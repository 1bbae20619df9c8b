import { EndpointAccessMode, EndpointType, type RestApiBase, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';

/** TLS 1.2 or 1.3 with forward secrecy, for the API and its domain alike ("Security policies for REST APIs"). */
export const TLS_1_2_OR_NEWER = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.BASIC,
};

interface CustomDomainProps {
  restApi: RestApiBase;
  domainName: string;
  /** The Route 53 zone of the domain name. */
  hostedZoneId: string;
}

/** A domain name for the API, with a certificate that DNS validates and renews. */
export class CustomDomain extends Construct {
  constructor(scope: Construct, id: string, { restApi, domainName, hostedZoneId }: CustomDomainProps) {
    super(scope, id);
    const zone = HostedZone.fromHostedZoneId(this, 'HostedZone', hostedZoneId);
    const domain = restApi.addDomainName('Domain', {
      domainName,
      certificate: new Certificate(this, 'Certificate', {
        domainName,
        validation: CertificateValidation.fromDns(zone),
      }),
      endpointType: EndpointType.REGIONAL,
      ...TLS_1_2_OR_NEWER,
    });
    new ARecord(this, 'Record', {
      zone,
      // The final dot makes the name complete. Without it, CDK appends the zone's name, which it cannot know here.
      recordName: `${domainName}.`,
      target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)),
    });
  }
}
