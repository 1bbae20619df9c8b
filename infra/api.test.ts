import { Match } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { defaultTemplate, methodsOf, templateWith, WEB_ACL_ARN, withWaterPlant } from '../test/support/stack.ts';
import { grantedOperations } from './operations.ts';

const template = defaultTemplate();

test.each([
  ['the contract', template, grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s each operation has its route, and no other reaches a function', (_what, stack, operations) => {
  const routes = methodsOf(stack).filter(({ integration }) => integration.Type === 'AWS_PROXY');
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    operations.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test('the API is regional, takes every body as bytes, and leaves the account’s CloudWatch role alone', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    EndpointConfiguration: { Types: ['REGIONAL'] },
    BinaryMediaTypes: ['*/*'],
  });
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
});

test('TLS is 1.2 or newer, each method is throttled, and the access log holds no header', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    SecurityPolicy: Match.stringLikeRegexp('^SecurityPolicy_TLS13_1_2_'),
  });
  const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
  expect(stage?.['Properties'].MethodSettings).toMatchObject([
    { HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
  ]);
  const line = JSON.parse(stage?.['Properties'].AccessLogSetting.Format);
  expect(line).toMatchObject({
    extendedRequestId: '$context.extendedRequestId',
    sourceIp: '$context.identity.sourceIp',
    resource: '$context.resourcePath',
  });
  // A caller could choose it.
  expect(JSON.stringify(line)).not.toContain('$context.requestId');
  expect(JSON.stringify(line)).not.toMatch(/header|authoriz/i);
  templateWith({ requestsPerSecond: 2500 }).hasResourceProperties('AWS::ApiGateway::Stage', {
    MethodSettings: [Match.objectLike({ ThrottlingRateLimit: 2500, ThrottlingBurstLimit: 5000 })],
  });
});

test('the account’s CloudWatch role is made only when asked for, and outlives a throw-away stack', () => {
  const asked = templateWith({ throwaway: true, cloudWatchRole: true });
  asked.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
});

test('the stage is put behind a web ACL only where one is named', () => {
  template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 0);
  templateWith({ webAclArn: WEB_ACL_ARN }).hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
    WebACLArn: WEB_ACL_ARN,
    ResourceArn: { 'Fn::Join': ['', Match.arrayWith(['::/restapis/', { Ref: Match.stringLikeRegexp('Stage') }])] },
  });
});
