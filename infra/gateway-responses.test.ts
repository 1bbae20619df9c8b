import { test } from 'vitest';
import { defaultTemplate } from '../test/support/stack.ts';

const template = defaultTemplate();

test('each of the 21 answers that the gateway makes itself is a 400 of the contract', () => {
  template.resourceCountIs('AWS::ApiGateway::GatewayResponse', 21);
  template.allResourcesProperties('AWS::ApiGateway::GatewayResponse', { StatusCode: '400' });
});

test.each([
  ['UNAUTHORIZED', 'WWW-Authenticate', 'Bearer realm="plant-store"'],
  ['THROTTLED', 'Retry-After', '1'],
])('the gateway’s own %s carries %s', (ResponseType, header, value) => {
  template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
    ResponseType,
    ResponseParameters: { [`gatewayresponse.header.${header}`]: `'${value}'` },
  });
});
