import { Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  type CfnRestApi,
  ContentHandling,
  EndpointAccessMode,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MockIntegration,
  PassthroughBehavior,
  ResponseType,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { errorHeaders } from '../functions/errors.ts';
import { corsHeaders, preflightHeaders } from './data/cors.ts';
import { type ErrorBody, gatewayResponses, NOT_FOUND } from './data/gateway-responses.ts';
import type { StackSettings } from './settings.ts';
import { addWebAcl } from './web-acl.ts';

interface ApiProps
  extends Pick<StackSettings, 'allowOrigins' | 'cloudWatchRole' | 'domain' | 'requestsPerSecond' | 'webAcl'> {
  /** The alias that API Gateway invokes for `POST /plants`. */
  liveAlias: IFunction;
}

/** API Gateway's stage, the first part of the path of each URL. */
const API_STAGE = 'v1';

/**
 * TLS 1.2 or 1.3 with forward secrecy, for the API and its custom domain ("Security policies for REST APIs"). A change
 * can take an hour (hashicorp/terraform-provider-aws issues 45167 and 45741). Meanwhile, the API serves requests, but is
 * UPDATING ("How to change a security policy") and may reject other changes, so deploy nothing else with it.
 */
const TLS_1_2_OR_NEWER = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.BASIC,
};

/**
 * The fields of an access log line. No field is a request header, because Authorization contains the token. No field is
 * a text in which a client can put a quotation mark, because API Gateway may not escape it.
 */
const ACCESS_LOG_FIELDS = {
  /** Not `$context.requestId`, which the client can choose ("Variables for access logging for API Gateway"). */
  extendedRequestId: AccessLogField.contextExtendedRequestId(),
  time: AccessLogField.contextRequestTime(),
  sourceIp: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  /** `/plants`, or `/` or `/{proxy+}` for an unknown path. */
  resource: AccessLogField.contextResourcePath(),
  status: AccessLogField.contextStatus(),
  /** The gateway response type, such as `THROTTLED`; "-" if the function or a mock integration responded. */
  gatewayResponse: AccessLogField.contextErrorResponseType(),
  integrationStatus: AccessLogField.contextIntegrationStatus(),
  responseLatencyMs: AccessLogField.contextResponseLatency(),
  integrationLatencyMs: AccessLogField.contextIntegrationLatency(),
  responseBytes: AccessLogField.contextResponseLength(),
};

/**
 * The REST API. An HTTP API does not let us change the body of API Gateway's own error responses.
 *
 * The endpoint is regional. The API stage is `v1`. TLS is 1.2 or newer. Access logs are kept for one month.
 */
export class Api extends Construct {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  readonly restApi: RestApi;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { liveAlias, allowOrigins, cloudWatchRole = false, domain, requestsPerSecond, webAcl } = props;
    const { stackName, region, urlSuffix } = Stack.of(this);
    this.accessLog = new LogGroup(this, 'AccessLog', { retention: RetentionDays.ONE_MONTH });
    this.restApi = new RestApi(this, 'RestApi', {
      restApiName: stackName,
      endpointTypes: [EndpointType.REGIONAL],
      // The function gets bodies as base64. In a text, bytes that are not UTF-8 would become U+FFFD, which it cannot
      // reject.
      binaryMediaTypes: ['*/*'],
      deployOptions: {
        stageName: API_STAGE,
        throttlingRateLimit: requestsPerSecond,
        throttlingBurstLimit: requestsPerSecond * 2,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
      // All APIs of the account and region share this role. CDK keeps it when the stack is deleted.
      cloudWatchRole,
    });
    // The RestApi construct has no properties for these two.
    Object.assign(this.restApi.node.defaultChild as CfnRestApi, TLS_1_2_OR_NEWER);
    // CDK's own output of the URL. The stack has the output ApiUrl instead.
    this.restApi.node.tryRemoveChild('Endpoint');
    this.url = `https://${domain?.name ?? `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${API_STAGE}`}`;

    this.#addMethods(liveAlias, allowOrigins);
    this.#addGatewayResponses(corsHeaders(allowOrigins));
    if (domain) this.#addDomain(domain);
    if (webAcl) addWebAcl(this, this.restApi.deploymentStage.stageArn, allowOrigins);

    const reasons = {
      'AwsSolutions-APIG2': 'The function validates requests: its messages name the member, API Gateway’s do not.',
      ...(!webAcl && { 'AwsSolutions-APIG3': 'The web ACL is a setting, because it has a monthly fee.' }),
      'AwsSolutions-APIG4': 'The function checks the access token, because an authorizer cannot send this Error.',
      'AwsSolutions-APIG6':
        'Execution logs would contain the Authorization header. Access log and function log are enough.',
      'AwsSolutions-COG4': 'Access tokens are of this service or of an identity provider, not of a Cognito user pool.',
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'This is the AWS managed policy for the role that API Gateway uses to write the logs of an account.',
    };
    for (const [id, reason] of Object.entries(reasons)) Validations.of(this.restApi).acknowledge({ id, reason });
  }

  /**
   * Adds `POST /plants`, its preflight, and error 404 for everything else.
   *
   * Without the ANY methods, API Gateway reads a bearer token as an AWS signature. AWS does not document which gateway
   * response it then sends.
   */
  #addMethods(liveAlias: IFunction, allowOrigins: string[]): void {
    const headers = corsHeaders(allowOrigins);
    const { root } = this.restApi;
    const plants = root.addResource('plants');
    // With allowTestInvoke, a second permission would let the console invoke the function.
    plants.addMethod('POST', new LambdaIntegration(liveAlias, { allowTestInvoke: false }));
    // OPTIONS exists also without origins. CloudFormation deploys the API before it deletes a method, so a deleted
    // preflight would stay live. The status is 200, because the contract has no status 204.
    const preflight = preflightHeaders(allowOrigins);
    if (preflight) addMock(plants, 'OPTIONS', 200, preflight);
    else addMock(plants, 'OPTIONS', 400, {}, NOT_FOUND);
    for (const resource of [root, plants, root.addResource('{proxy+}')]) {
      addMock(resource, 'ANY', 400, headers, NOT_FOUND);
    }
  }

  /** Adds API Gateway's own error responses: status 400 and an Error of the contract. */
  #addGatewayResponses(headers: Record<string, string>): void {
    for (const [type, { error, message }] of Object.entries<ErrorBody>(gatewayResponses)) {
      this.restApi.addGatewayResponse(type, {
        type: ResponseType.of(type),
        statusCode: '400',
        responseHeaders: quoted({ ...errorHeaders[error], ...headers }),
        templates: { 'application/json': JSON.stringify({ error, message }) },
      });
    }
  }

  /** Adds a custom domain name with a certificate that is validated, and renewed, through DNS. */
  #addDomain({ name: domainName, hostedZoneId }: { name: string; hostedZoneId: string }): void {
    const zone = HostedZone.fromHostedZoneId(this, 'HostedZone', hostedZoneId);
    const validation = CertificateValidation.fromDns(zone);
    const domain = this.restApi.addDomainName('Domain', {
      domainName,
      certificate: new Certificate(this, 'Certificate', { domainName, validation }),
      endpointType: EndpointType.REGIONAL,
      ...TLS_1_2_OR_NEWER,
    });
    new ARecord(this, 'Record', {
      zone,
      // The trailing dot marks a full name. Without it, CDK appends the zone's name, which is unknown here.
      recordName: `${domainName}.`,
      target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)),
    });
  }
}

/**
 * Adds a method that responds without a function.
 *
 * Mapping templates fail on binary bodies, so the bodies of request and response are converted to text ("Content type
 * conversions in API Gateway"). CDK's own preflights do not do this, and fail with error 500 (aws-cdk #18297).
 *
 * By default, API Gateway passes on a body whose Content-Type has no template, and the integration would fail. With
 * NEVER, it sends the gateway response UNSUPPORTED_MEDIA_TYPE instead ("Method request behavior for payloads without
 * mapping templates for REST APIs in API Gateway").
 */
function addMock(
  resource: IResource,
  method: 'ANY' | 'OPTIONS',
  status: 200 | 400,
  headers: Record<string, string>,
  body?: ErrorBody,
): void {
  const names = Object.keys(headers).map((name) => `method.response.header.${name}`);
  const integration = new MockIntegration({
    requestTemplates: { 'application/json': JSON.stringify({ statusCode: status }) },
    passthroughBehavior: PassthroughBehavior.NEVER,
    contentHandling: ContentHandling.CONVERT_TO_TEXT,
    integrationResponses: [
      {
        statusCode: String(status),
        contentHandling: ContentHandling.CONVERT_TO_TEXT,
        responseParameters: quoted(headers, 'method.response.header.'),
        ...(body && { responseTemplates: { 'application/json': JSON.stringify(body) } }),
      },
    ],
  });
  // API Gateway sends only the statuses and headers that the method declares.
  const responseParameters = Object.fromEntries(names.map((name) => [name, true]));
  resource.addMethod(method, integration, { methodResponses: [{ statusCode: String(status), responseParameters }] });
}

/** Returns fixed headers in API Gateway's syntax: each value in quotation marks, because others are expressions. */
function quoted(headers: Record<string, string>, prefix = ''): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}${name}`, `'${value}'`]));
}
