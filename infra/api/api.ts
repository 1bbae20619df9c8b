import { CfnDeletionPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  type CfnRestApi,
  EndpointType,
  LogGroupLogDestination,
  RestApiMode,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import type { StackSettings } from '../settings.ts';
import { apiDefinition, type OperationTarget, TLS_1_2_OR_NEWER } from './definition.ts';

interface ApiProps extends StackSettings {
  /** The operations, each with the function or alias that serves it. */
  routes: OperationTarget[];
}

const STAGE_NAME = 'v1';

/**
 * One line of the access log, in JSON. Never a header: the token is in one. Only values into which no client can put a
 * quotation mark: API Gateway may not escape them.
 */
const ACCESS_LOG_LINE = {
  /** The client could choose `$context.requestId` ("Variables for access logging for API Gateway"). */
  extendedRequestId: AccessLogField.contextExtendedRequestId(),
  traceId: AccessLogField.contextXrayTraceId(),
  time: AccessLogField.contextRequestTime(),
  sourceIp: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  /** The path as in the contract, such as `/plants`; `/` or `/{proxy+}` for an unknown path. */
  resource: AccessLogField.contextResourcePath(),
  status: AccessLogField.contextStatus(),
  /** The type of the gateway's own response; "-" for other responses. */
  gatewayResponse: AccessLogField.contextErrorResponseType(),
  integrationStatus: AccessLogField.contextIntegrationStatus(),
  responseLatencyMs: AccessLogField.contextResponseLatency(),
  integrationLatencyMs: AccessLogField.contextIntegrationLatency(),
  responseBytes: AccessLogField.contextResponseLength(),
};

/**
 * The REST API. An HTTP API would not do: its own responses cannot have the contract's form.
 *
 * @default regional, stage `v1`, TLS 1.2 or newer, access logs that are kept for a month, traced by X-Ray
 */
export class Api extends Construct {
  /** The base URL, without a final slash. */
  readonly url: string;
  readonly restApi: SpecRestApi;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { routes, domainName, hostedZoneId, allowOrigins, requestsPerSecond, webAclArn, cloudWatchRole } = props;
    const { stackName, region, urlSuffix } = Stack.of(this);
    this.accessLog = new LogGroup(this, 'AccessLog', { retention: RetentionDays.ONE_MONTH });
    this.restApi = new SpecRestApi(this, 'RestApi', {
      restApiName: stackName,
      apiDefinition: ApiDefinition.fromInline(apiDefinition(stackName, routes, allowOrigins)),
      // The default keeps binary media types that the definition no longer has ("AWS::ApiGateway::RestApi", Mode).
      mode: RestApiMode.OVERWRITE,
      endpointTypes: [EndpointType.REGIONAL],
      // An import makes the endpoint EDGE unless its own parameter says otherwise ("PutRestApi").
      parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
      deployOptions: {
        stageName: STAGE_NAME,
        tracingEnabled: true,
        throttlingRateLimit: requestsPerSecond,
        throttlingBurstLimit: requestsPerSecond * 2,
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_LINE)),
      },
      // The account and region have one role, so it outlives every stack that makes it.
      cloudWatchRole,
    });
    Object.assign(this.restApi.node.defaultChild as CfnRestApi, TLS_1_2_OR_NEWER);
    // The stack has an output of the URL under a stable name.
    this.restApi.node.tryRemoveChild('Endpoint');
    this.url = `https://${domainName ?? `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE_NAME}`}`;

    for (const { operation, target } of routes) {
      const path = operation.path.replaceAll(/\{\w+\}/g, '*');
      target.addPermission('ApiGateway', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: this.restApi.arnForExecuteApi(operation.method, path, STAGE_NAME),
      });
    }
    if (domainName !== undefined && hostedZoneId !== undefined) this.#addDomain(domainName, hostedZoneId);
    if (webAclArn !== undefined) {
      const resourceArn = this.restApi.deploymentStage.stageArn;
      const association = new CfnWebACLAssociation(this, 'WebAcl', { webAclArn, resourceArn });
      // A change of the ACL replaces the association. To delete the old one would detach the new ACL.
      association.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
      association.cfnOptions.deletionPolicy = CfnDeletionPolicy.DELETE;
    }

    const reasons = {
      'AwsSolutions-APIG2': 'The function validates requests: its messages name the member, the gateway’s do not.',
      'AwsSolutions-APIG3':
        'A web ACL costs a base fee and its rules are the account’s to choose: the context key webAclArn names one.',
      'AwsSolutions-APIG6':
        'Execution logs would hold the Authorization header; access log, function log and traces hold the rest.',
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'It is AWS’s own policy for the one role by which API Gateway writes all logs of an account.',
    };
    for (const [id, reason] of Object.entries(reasons)) Validations.of(this.restApi).acknowledge({ id, reason });
  }

  /** Adds a domain name with a certificate that DNS validates and renews. */
  #addDomain(domainName: string, hostedZoneId: string): void {
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
      // The final dot makes the name complete. Without it, CDK appends the zone's name, which it cannot know here.
      recordName: `${domainName}.`,
      target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)),
    });
  }
}
