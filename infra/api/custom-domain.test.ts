import { expect, test } from 'vitest';
import { onlyOf, templateWith } from '../../test/support/stack.ts';

test('the domain has the API’s TLS policy, a certificate and a record, and is the base URL', () => {
  const stack = templateWith({ domainName: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' });
  const { SecurityPolicy, EndpointAccessMode } = onlyOf(stack, 'AWS::ApiGateway::RestApi');
  expect(onlyOf(stack, 'AWS::ApiGateway::DomainName')).toMatchObject({
    DomainName: 'plants.example.com',
    SecurityPolicy,
    EndpointAccessMode,
    EndpointConfiguration: { Types: ['REGIONAL'] },
  });
  expect(onlyOf(stack, 'AWS::CertificateManager::Certificate')).toMatchObject({
    DomainValidationOptions: [{ DomainName: 'plants.example.com', HostedZoneId: 'Z0123456789ABC' }],
  });
  expect(onlyOf(stack, 'AWS::Route53::RecordSet')).toMatchObject({
    Name: 'plants.example.com.',
    HostedZoneId: 'Z0123456789ABC',
  });
  stack.hasOutput('ApiUrl', { Value: 'https://plants.example.com' });
});
