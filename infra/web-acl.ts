import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { corsHeaders } from './shared-with-local-run/cors-headers.ts';
import { gatewayErrors } from './shared-with-local-run/gateway-errors.ts';

const WINDOW_S = 60;
/** Requests that an address can send in WINDOW_S. AWS WAF counts at intervals, so it blocks up to 30 s late. */
const MAX_REQUESTS = 3000;

/**
 * Adds a web ACL that blocks an address while it sends too many requests ("Rate-based rule caveats in AWS WAF"). The
 * response is error 429 of the contract: a custom response takes precedence over the gateway response WAF_FILTERED
 * ("Custom responses for block actions").
 */
export function addWebAcl(scope: Construct, stageArn: string, allowOrigins: string[]): void {
  const headers = { 'Retry-After': String(WINDOW_S), ...corsHeaders(allowOrigins) };
  // A sampled request would contain the client's token.
  const visibility = { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false };
  const webAcl = new CfnWebACL(scope, 'WebAcl', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: { ...visibility, metricName: 'WebAcl' },
    customResponseBodies: {
      throttled: { contentType: 'APPLICATION_JSON', content: JSON.stringify(gatewayErrors.THROTTLED) },
    },
    rules: [
      {
        name: 'rate-of-each-address',
        priority: 0,
        statement: {
          rateBasedStatement: { aggregateKeyType: 'IP', evaluationWindowSec: WINDOW_S, limit: MAX_REQUESTS },
        },
        action: {
          block: {
            customResponse: {
              responseCode: 400,
              customResponseBodyKey: 'throttled',
              responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
            },
          },
        },
        visibilityConfig: { ...visibility, metricName: 'RateOfEachAddress' },
      },
    ],
  });
  new CfnWebACLAssociation(scope, 'WebAclAssociation', { resourceArn: stageArn, webAclArn: webAcl.attrArn });
}
