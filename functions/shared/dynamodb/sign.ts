import { createHmac, hash } from 'node:crypto';

interface SigningSettings {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Empty for an access key that does not expire. */
  sessionToken: string;
}

/**
 * Signs a POST request to DynamoDB. Returns its headers with the signature, which expires after some minutes ("Create a
 * signed AWS API request", IAM User Guide).
 *
 * @param headers The headers to sign, with lower-case names. `host` is added.
 */
export function sign(
  { host, pathname }: URL,
  headers: Record<string, string>,
  body: string,
  settings: SigningSettings,
) {
  const { region, accessKeyId, secretAccessKey, sessionToken } = settings;
  const timestamp = new Date().toISOString().replaceAll(/[:-]|\.\d+/g, '');
  const bodyDigest = hash('sha256', body);
  const signed: Record<string, string> = {
    ...headers,
    host,
    'x-amz-content-sha256': bodyDigest,
    'x-amz-date': timestamp,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
  };
  const names = Object.keys(signed).toSorted();
  const headerLines = names.map((name) => `${name}:${signed[name]}`);
  const signedHeaders = names.join(';');
  const canonicalRequest = ['POST', pathname, '', ...headerLines, '', signedHeaders, bodyDigest];
  const scope = [timestamp.slice(0, 8), region, 'dynamodb', 'aws4_request'];
  const key = scope.reduce<string | Buffer>((key, part) => hmac(key, part), `AWS4${secretAccessKey}`);
  const requestDigest = hash('sha256', canonicalRequest.join('\n'));
  const stringToSign = ['AWS4-HMAC-SHA256', timestamp, scope.join('/'), requestDigest].join('\n');
  const signature = hmac(key, stringToSign).toString('hex');
  const credential = `${accessKeyId}/${scope.join('/')}`;
  const parameters = `Credential=${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
  return { ...signed, authorization: `AWS4-HMAC-SHA256 ${parameters}` };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
