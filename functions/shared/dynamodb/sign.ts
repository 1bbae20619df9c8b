import { createHmac, hash } from 'node:crypto';

interface Credentials {
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
export function sign({ host, pathname }: URL, headers: Record<string, string>, body: string, credentials: Credentials) {
  const { region, accessKeyId, secretAccessKey, sessionToken } = credentials;
  const time = new Date().toISOString().replaceAll(/[:-]|\.\d+/g, '');
  const bodyDigest = hash('sha256', body);
  const signed: Record<string, string> = {
    ...headers,
    host,
    'x-amz-content-sha256': bodyDigest,
    'x-amz-date': time,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
  };
  const names = Object.keys(signed).toSorted();
  const headerLines = names.map((name) => `${name}:${signed[name]}`);
  const request = ['POST', pathname, '', ...headerLines, '', names.join(';'), bodyDigest];
  const scope = [time.slice(0, 8), region, 'dynamodb', 'aws4_request'];
  const key = scope.reduce<string | Buffer>((key, part) => hmac(key, part), `AWS4${secretAccessKey}`);
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash('sha256', request.join('\n'))].join('\n');
  const credential = `Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}`;
  return { ...signed, authorization: `AWS4-HMAC-SHA256 ${credential}, Signature=${hmac(key, text).toString('hex')}` };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
