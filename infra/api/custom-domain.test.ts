import { test } from 'vitest';
import { templateWith } from '../../test/support/stack.ts';

test('a domain of the user’s own has the API’s TLS policy, a certificate, a record, and is the base URL', () => {
  const own = templateWith({ domainName: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' });
  const [api] = Object.values(own.findResources('AWS::ApiGateway::RestApi'));
  if (!api) throw new Error('The stack has no API.');
  const { SecurityPolicy, EndpointAccessMode } = api['Properties'];
  own.hasResourceProperties('AWS::ApiGateway::DomainName', {
    DomainName: 'plants.example.com',
    SecurityPolicy,
    EndpointAccessMode,
    EndpointConfiguration: { Types: ['REGIONAL'] },
  });
  own.hasResourceProperties('AWS::CertificateManager::Certificate', {
    DomainValidationOptions: [{ DomainName: 'plants.example.com', HostedZoneId: 'Z0123456789ABC' }],
  });
  own.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'plants.example.com.', HostedZoneId: 'Z0123456789ABC' });
  own.hasOutput('ApiUrl', { Value: 'https://plants.example.com' });
});
