import { EndpointAccessMode, EndpointType, type RestApiBase, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import type { Domain } from '../settings.ts';

/** TLS 1.2 or 1.3 with forward secrecy, for the API and its domain alike ("Security policies for REST APIs"). */
export const TLS_1_2_OR_NEWER = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.BASIC,
};

/** Puts the API under a name of the user's own, with a certificate that is validated and renewed by DNS. */
export function addCustomDomain(api: RestApiBase, { domainName, hostedZoneId }: Domain): void {
  const zone = HostedZone.fromHostedZoneId(api, 'HostedZone', hostedZoneId);
  const validation = CertificateValidation.fromDns(zone);
  const name = api.addDomainName('Domain', {
    domainName,
    certificate: new Certificate(api, 'Certificate', { domainName, validation }),
    endpointType: EndpointType.REGIONAL,
    ...TLS_1_2_OR_NEWER,
  });
  new ARecord(api, 'DomainRecord', {
    zone,
    // With its dot it is complete; else the zone's name, which only a look-up would know, is put after it.
    recordName: `${domainName}.`,
    target: RecordTarget.fromAlias(new ApiGatewayDomain(name)),
  });
}
