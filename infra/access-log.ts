import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';

/**
 * The fields of an access log line. No field is a request header, because Authorization contains the token. No field is
 * a text in which a client can put a quotation mark, because API Gateway may not escape it.
 */
const FIELDS = {
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

export type AccessLogName = keyof typeof FIELDS;

export const accessLogFormat = AccessLogFormat.custom(JSON.stringify(FIELDS));
