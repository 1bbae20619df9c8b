import { request } from 'node:https';

/* The minimum for a handler that calls DynamoDB: one HTTPS request, unsigned and without parsing. */
export const handler = () =>
  new Promise((resolve, reject) => {
    request(
      process.env['AWS_ENDPOINT_URL_DYNAMODB'] ?? '',
      { method: 'POST', headers: { 'x-amz-target': 'DynamoDB_20120810.PutItem' } },
      (response) => {
        response.resume().on('end', () => resolve({ statusCode: 200, headers: {}, body: '{}' }));
      },
    )
      .on('error', reject)
      .end('{}');
  });
