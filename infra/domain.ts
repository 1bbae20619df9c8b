import { EndpointAccessMode, EndpointType, type RestApi, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/**
 * TLS 1.2 or 1.3 with forward secrecy, for the API and its custom domain ("Security policies for REST APIs"). A change
 * takes about 15 minutes ("How to change a security policy"), and sometimes an hour (hashicorp/terraform-provider-aws
 * issues 45167 and 45741). Meanwhile, the API serves requests, but is UPDATING and may reject other changes, so deploy
 * nothing else with it.
 */
export const TLS_1_2_OR_NEWER = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.BASIC,
};

/** Returns the target of the domain's DNS record, which a person creates if the domain is not in a hosted zone. */
export function addDomain(scope: Construct, restApi: RestApi, domain: Required<Settings>['domain']): string {
  const { name: domainName, hostedZoneId, certificateArn } = domain;
  const zone = hostedZoneId === undefined ? undefined : HostedZone.fromHostedZoneId(scope, 'HostedZone', hostedZoneId);
  const certificate =
    certificateArn === undefined
      ? new Certificate(scope, 'Certificate', { domainName, validation: CertificateValidation.fromDns(zone) })
      : Certificate.fromCertificateArn(scope, 'Certificate', certificateArn);
  const target = restApi.addDomainName('Domain', {
    domainName,
    certificate,
    endpointType: EndpointType.REGIONAL,
    ...TLS_1_2_OR_NEWER,
  });
  if (zone) {
    new ARecord(scope, 'Record', {
      zone,
      // The trailing dot marks a full name. Without it, CDK appends the zone's name, which is unknown here.
      recordName: `${domainName}.`,
      target: RecordTarget.fromAlias(new ApiGatewayDomain(target)),
    });
  }
  return target.domainNameAliasDomainName;
}
