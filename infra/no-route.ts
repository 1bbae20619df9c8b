import {
  ContentHandling,
  MockIntegration,
  PassthroughBehavior,
  ResourceBase,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';

/** What is answered where the API has no operation. */
export const NO_ROUTE = { error: 404, message: 'There is no such path or method.' } as const;

/**
 * What a mock integration needs where every body is binary. As text, since its template fails on bytes
 * ("Content type conversions in API Gateway"). And never passed through: a body of a type that has no
 * template would be read as the mock's own instructions, and fail; now it is UNSUPPORTED_MEDIA_TYPE
 * ("Method request behavior for payloads without mapping templates for REST APIs in API Gateway").
 */
export const MOCK_OF_ANY_BODY = {
  contentHandling: ContentHandling.CONVERT_TO_TEXT,
  passthroughBehavior: PassthroughBehavior.NEVER,
};

/**
 * Gives the API's resources, and whatever lies outside them, methods without a function that answer error 404
 * where no operation does. Called once all resources are there. Where no method is, API Gateway takes a bearer
 * token for a bad signature, and no page of AWS says which gateway response that is.
 */
export function answerNoRoute(api: RestApi, headers: Record<string, string>): void {
  const parameters = Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, value] as const);
  const integration = new MockIntegration({
    ...MOCK_OF_ANY_BODY,
    requestTemplates: { 'application/json': '{"statusCode":400}' },
    integrationResponses: [
      {
        statusCode: '400',
        contentHandling: MOCK_OF_ANY_BODY.contentHandling,
        responseParameters: Object.fromEntries(parameters),
        responseTemplates: { 'application/json': JSON.stringify(NO_ROUTE) },
      },
    ],
  });
  const methodResponse = {
    statusCode: '400',
    responseParameters: Object.fromEntries(parameters.map(([name]) => [name, true])),
  };
  api.root.addResource('{proxy+}');
  for (const resource of api.node.findAll().filter((construct) => construct instanceof ResourceBase)) {
    resource.addMethod('ANY', integration, { methodResponses: [methodResponse] });
  }
}
