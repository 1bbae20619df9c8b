import { Annotations, Stack, Validations } from 'aws-cdk-lib';
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
import { Construct } from 'constructs';
import { API_STAGE } from '../data/api-stage.ts';
import type { StackSettings } from '../settings.ts';
import { type ApiRoute, apiDefinition, TLS_1_2_OR_NEWER } from './definition.ts';
import { addWebAcl } from './web-acl.ts';

interface ApiProps
  extends Pick<StackSettings, 'allowOrigins' | 'cloudWatchRole' | 'domain' | 'requestsPerSecond' | 'webAcl'> {
  /** Each operation with the function or alias that API Gateway invokes for it. */
  routes: ApiRoute[];
}

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
  /** The path in the contract, such as `/plants/{id}`; `/`, `/{proxy+}` or a parent for an unknown path. */
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
  readonly restApi: SpecRestApi;
  readonly accessLog: LogGroup;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { routes, allowOrigins, cloudWatchRole, domain, requestsPerSecond, webAcl } = props;
    const { stackName, region, urlSuffix } = Stack.of(this);
    this.accessLog = new LogGroup(this, 'AccessLog', { retention: RetentionDays.ONE_MONTH });
    this.restApi = new SpecRestApi(this, 'RestApi', {
      restApiName: stackName,
      apiDefinition: ApiDefinition.fromInline(apiDefinition(stackName, routes, allowOrigins)),
      // The default mode keeps binary media types that were removed from the definition ("AWS::ApiGateway::RestApi").
      mode: RestApiMode.OVERWRITE,
      // By default, an import ignores the parts of the definition that API Gateway warns about ("Errors and warnings
      // from importing your API into API Gateway").
      failOnWarnings: true,
      endpointTypes: [EndpointType.REGIONAL],
      // Without this parameter, an import changes the endpoint type to EDGE ("PutRestApi").
      parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
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
    Object.assign(this.restApi.node.defaultChild as CfnRestApi, TLS_1_2_OR_NEWER);
    // CDK's own output of the URL. The stack has the output ApiUrl instead.
    this.restApi.node.tryRemoveChild('Endpoint');
    this.url = `https://${domain?.name ?? `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${API_STAGE}`}`;

    for (const { operation, target } of routes) {
      const path = operation.path.replaceAll(/\{\w+\}/g, '*');
      target.addPermission('ApiGateway', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: this.restApi.arnForExecuteApi(operation.method, path, API_STAGE),
      });
      // Otherwise the stage could invoke a new alias before it may, and clients would get error 500.
      this.restApi.deploymentStage.node.addDependency(target.node.findChild('ApiGateway'));
    }
    if (domain) this.#addDomain(domain);
    if (webAcl) addWebAcl(this, this.restApi.deploymentStage.stageArn, allowOrigins);
    if (cloudWatchRole) {
      Annotations.of(this).addInfo(
        'This stack sets the role with which API Gateway writes the logs of this account and region. To keep another ' +
          'role, set cloudWatchRole to false in infra/stages.ts.',
      );
    }

    const reasons = {
      'AwsSolutions-APIG2': 'The function validates requests: its messages name the member, API Gateway’s do not.',
      ...(!webAcl && { 'AwsSolutions-APIG3': 'The web ACL is a setting, because it has a monthly fee.' }),
      'AwsSolutions-APIG6':
        'Execution logs would contain the Authorization header. Access log and function log are enough.',
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
        'This is the AWS managed policy for the role that API Gateway uses to write the logs of an account.',
    };
    for (const [id, reason] of Object.entries(reasons)) Validations.of(this.restApi).acknowledge({ id, reason });
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
