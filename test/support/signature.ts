import { createHmac, hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const MAX_AGE_MS = 5 * 60_000;

type SignedRequest = { method: string; path: string; headers: IncomingHttpHeaders; bytes: Buffer };

/**
 * Returns what is wrong with the signature of a request to DynamoDB, or undefined ("Create a signed AWS API request",
 * IAM User Guide). It must be made with the region and the keys of this process.
 */
export function signatureProblem({ method, path, headers, bytes }: SignedRequest): string | undefined {
  const { authorization = '', 'x-amz-date': time = '' } = headers as Record<string, string>;
  const age = Date.now() - Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (!(Math.abs(age) <= MAX_AGE_MS)) return `The x-amz-date was ${time}; it must be at most 5 minutes away.`;

  const signed = /SignedHeaders=([^,]*)/.exec(authorization)?.[1]?.split(';') ?? [];
  const required = Object.keys(headers).filter((name) => /^(host|content-type|x-amz-.+)$/.test(name));
  const names = [...new Set([...signed, ...required])].toSorted();
  const missing = names.find((name) => headers[name] === undefined);
  if (missing) return `The signed header ${missing} is missing.`;
  const unsigned = names.find((name) => !signed.includes(name));
  if (unsigned) return `The header ${unsigned} is not signed.`;
  const lines = names.map((name) => `${name}:${headers[name]}`);
  const request = [method, path, '', ...lines, '', names.join(';'), hash('sha256', bytes)].join('\n');

  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
  const scope = [time.slice(0, 8), AWS_REGION, 'dynamodb', 'aws4_request'] as string[];
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = scope.reduce(hmac, `AWS4${AWS_SECRET_ACCESS_KEY}`);
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), hash('sha256', request)].join('\n');
  const expected =
    `AWS4-HMAC-SHA256 Credential=${AWS_ACCESS_KEY_ID}/${scope.join('/')}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${hmac(key, text).toString('hex')}`;
  return authorization === expected ? undefined : `The signature was "${authorization}"; it must be "${expected}".`;
}
