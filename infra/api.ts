import { Stack, Validations } from 'aws-cdk-lib';
import {
  type CfnRestApi,
  EndpointType,
  LambdaIntegration,
  LogGroupLogDestination,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { accessLogFormat } from './access-log.ts';
import { addDomain, TLS_1_2_OR_NEWER } from './domain.ts';
import { addGatewayResponses, addMock } from './gateway-responses.ts';
import type { CompleteSettings } from './settings.ts';
import { corsHeaders, preflightHeaders } from './shared-with-local-run/cors-headers.ts';
import { NOT_FOUND } from './shared-with-local-run/gateway-errors.ts';
import { addWebAcl } from './web-acl.ts';

interface ApiProps
  extends Pick<
    CompleteSettings,
    'allowOrigins' | 'cloudWatchRole' | 'domain' | 'ephemeral' | 'requestsPerSecond' | 'webAcl'
  > {
  liveAlias: IFunction;
}

/** API Gateway's stage, the first part of the path of each URL. */
const API_STAGE = 'api';

/**
 * The REST API. An HTTP API does not let us change the body of API Gateway's own error responses. An ephemeral stack has
 * no access log, because that needs a role that all APIs of the account and region share.
 */
export class Api extends Construct {
  /** The base URL, without a trailing slash. */
  readonly url: string;
  readonly restApi: RestApi;
  /** Undefined in an ephemeral stack. */
  readonly accessLog: LogGroup | undefined;
  /** The target of the custom domain's DNS record. Undefined without a custom domain. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { liveAlias, allowOrigins, cloudWatchRole, domain, ephemeral, requestsPerSecond, webAcl } = props;
    const { stackName, region, urlSuffix } = Stack.of(this);
    this.accessLog = ephemeral ? undefined : new LogGroup(this, 'AccessLog', { retention: RetentionDays.ONE_MONTH });
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
        ...(this.accessLog && { accessLogDestination: new LogGroupLogDestination(this.accessLog), accessLogFormat }),
      },
      // CDK keeps this role when the stack is deleted.
      cloudWatchRole: cloudWatchRole && !ephemeral,
    });
    if (ephemeral) this.#acknowledgeRule('AwsSolutions-APIG1', 'An ephemeral stack has no access log.');
    this.#acknowledgeRule('AwsSolutions-APIG6', 'Execution logs would contain the Authorization header.');
    this.#acknowledgeRule(
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      'This is the AWS managed policy for the role that API Gateway uses to write the logs of an account.',
    );
    // The RestApi construct has no properties for these two.
    Object.assign(this.restApi.node.defaultChild as CfnRestApi, TLS_1_2_OR_NEWER);
    // The stack has the output ApiUrl instead.
    this.restApi.node.tryRemoveChild('Endpoint');
    this.url = `https://${domain?.name ?? `${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${API_STAGE}`}`;

    this.#addMethods(liveAlias, allowOrigins);
    addGatewayResponses(this.restApi, corsHeaders(allowOrigins));
    this.domainTarget = domain && addDomain(this, this.restApi, domain);
    if (webAcl) addWebAcl(this, this.restApi.deploymentStage.stageArn, allowOrigins);
    else this.#acknowledgeRule('AwsSolutions-APIG3', 'The web ACL is a setting, because it has a monthly fee.');
  }

  /**
   * Adds `POST /plants`, its preflight, and error 404 for everything else. Without the ANY methods, API Gateway reads a
   * bearer token as an AWS signature. AWS does not document which gateway response it then sends.
   */
  #addMethods(liveAlias: IFunction, allowOrigins: string[]): void {
    const headers = corsHeaders(allowOrigins);
    const { root } = this.restApi;
    const plants = root.addResource('plants');
    // With allowTestInvoke, a second permission would let the console invoke the function.
    plants.addMethod('POST', new LambdaIntegration(liveAlias, { allowTestInvoke: false }));
    this.#acknowledgeRule('AwsSolutions-APIG2', 'The function validates requests. Its messages name the member.');
    this.#acknowledgeRule(
      'AwsSolutions-APIG4',
      'The function checks the access token. An authorizer cannot send this Error.',
    );
    this.#acknowledgeRule('AwsSolutions-COG4', 'Access tokens are not those of a Cognito user pool.');
    // OPTIONS exists also without origins, because a method that is removed stays live: CloudFormation deploys the API
    // first, and deletes the method afterwards. The status is 200, because the contract has no status 204.
    const preflight = preflightHeaders(allowOrigins);
    if (preflight) addMock(plants, 'OPTIONS', 200, preflight);
    else addMock(plants, 'OPTIONS', 400, {}, NOT_FOUND);
    for (const resource of [root, plants, root.addResource('{proxy+}')]) {
      addMock(resource, 'ANY', 400, headers, NOT_FOUND);
    }
  }

  #acknowledgeRule(id: string, reason: string): void {
    Validations.of(this.restApi).acknowledge({ id, reason });
  }
}
