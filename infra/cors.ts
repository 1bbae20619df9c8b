import { Duration } from 'aws-cdk-lib';
import type { CfnMethod, Resource } from 'aws-cdk-lib/aws-apigateway';
import { EXPOSED_HEADERS } from '../functions/shared/errors.ts';
import { MOCK_OF_ANY_BODY } from './no-route.ts';

/**
 * The headers, with fixed values, by which a page may read what the gateway answers itself. Of several
 * origins a fixed value cannot name the caller's, so it is `*`; these answers hold nothing to protect.
 */
export function corsHeaders([origin, ...others]: string[]): Record<string, string> {
  if (origin === undefined) return {};
  return {
    'Access-Control-Allow-Origin': `'${others.length > 0 ? '*' : origin}'`,
    'Access-Control-Expose-Headers': `'${EXPOSED_HEADERS}'`,
  };
}

/** Lets pages of the origins ask beforehand whether they may call a resource by these methods. */
export function allowPreflight(resource: Resource, allowMethods: string[], allowOrigins: string[]): void {
  const preflight = resource.addCorsPreflight({
    allowOrigins,
    allowMethods,
    allowHeaders: ['Authorization', 'Content-Type'],
    maxAge: Duration.hours(1),
    // The API has no other status than 200 and 400.
    statusCode: 200,
  });
  const method = preflight.node.defaultChild as CfnMethod;
  method.addPropertyOverride('Integration.ContentHandling', MOCK_OF_ANY_BODY.contentHandling);
  method.addPropertyOverride('Integration.PassthroughBehavior', MOCK_OF_ANY_BODY.passthroughBehavior);
  method.addPropertyOverride('Integration.IntegrationResponses.0.ContentHandling', MOCK_OF_ANY_BODY.contentHandling);
}
