import { request } from 'node:https';

/* The floor of anything that calls DynamoDB: one HTTPS request, unsigned, nothing parsed. */
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
