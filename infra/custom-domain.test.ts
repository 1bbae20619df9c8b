import { Match } from 'aws-cdk-lib/assertions';
import { test } from 'vitest';
import { templateWith } from '../test/support/stack.ts';

test('a domain of the user’s own has TLS 1.2 or newer, a certificate, a record, and is the base URL', () => {
  const own = templateWith({ domainName: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' });
  own.hasResourceProperties('AWS::ApiGateway::DomainName', {
    DomainName: 'plants.example.com',
    SecurityPolicy: Match.stringLikeRegexp('^SecurityPolicy_TLS13_1_2_'),
  });
  own.hasResourceProperties('AWS::CertificateManager::Certificate', {
    DomainValidationOptions: [{ DomainName: 'plants.example.com', HostedZoneId: 'Z0123456789ABC' }],
  });
  own.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'plants.example.com.', HostedZoneId: 'Z0123456789ABC' });
  own.hasOutput('ApiUrl', { Value: 'https://plants.example.com' });
});
