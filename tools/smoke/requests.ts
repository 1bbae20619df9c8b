import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plant } from '../../functions/create-plant/contract.generated.js';
import { UNKNOWN_TOKEN } from '../../functions/shared/access-tokens/token.ts';
import { projectRoot } from '../../infra/project-root.ts';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { operations } from './operations.generated.ts';

/** A request, and the response that it must get: a 400 with `error`, or a 200 with exactly `plant`. */
export interface SmokeRequest {
  /** The expected behaviour. */
  title: string;
  error?: number;
  plant?: Plant;
  /** The id under which `plant` must then be stored. */
  id?: bigint;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
}

interface Run {
  /** A positive int64 beyond 2^53. No client can know it, the numbers up to `id + 1000`, or their negatives. */
  id: bigint;
  token: string;
  expiredToken: string | undefined;
  /** True for a deployed stack, where the token of the local run must not be valid. */
  isDeployed: boolean;
}

const { body } = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));
const { id: _, tag: __, ...untagged } = JSON.parse(body);
/** The plant of the sample event without its tag, with these changes. Rows name only the members that they are about. */
const plantWith = (changes: Partial<Plant>): Plant => ({ ...untagged, ...changes });
const PLANT = plantWith({ name: 'Check', tag: 'check' });
/** Spaces at the ends, a letter of two code points, and characters that need escaping. */
const UNICODE = plantWith({ name: ' e\u0301🌱"\\\u0000\u2028 ', tag: '植物\n' });
/** A UUID, because API Gateway ignores any other value of x-amzn-RequestId ("Access logging for REST APIs"). */
const CHOSEN_ID = '00000000-0000-4000-8000-000000000000';

/** A body with an id as text, because `JSON.stringify` cannot write a bigint. */
const bodyOf = (id: bigint | string, members: object) => `{"id":${id},${JSON.stringify(members).slice(1)}`;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Returns the requests of a run, in their order. To test an operation of your own, add rows at the end. */
export function smokeRequests({ id, token, expiredToken, isDeployed }: Run): SmokeRequest[] {
  /** No plant with this id may be stored, until a row creates one. */
  const rejectedId = id + 9n;
  /** A negative safe integer that no client can know. */
  const safeId = -(id >> 10n);
  const withType = (type: string) => ({ ...bearer(token), 'Content-Type': type });
  const rows: (Pick<SmokeRequest, 'title'> & Partial<SmokeRequest>)[] = [
    { title: 'creates a plant', id, plant: PLANT },
    { title: 'creates the same plant again', id, plant: PLANT },
    { title: 'rejects another case in the name', body: bodyOf(id, { ...PLANT, name: 'check' }), error: 409 },
    { title: 'rejects another tag', body: bodyOf(id, { ...PLANT, tag: 'other' }), error: 409 },
    { title: 'rejects the same plant without its tag', body: bodyOf(id, plantWith({ name: PLANT.name })), error: 409 },
    { title: 'keeps apart two ids beyond 2^53 that differ by one', id: id + 1n, plant: plantWith({ name: 'check 2' }) },
    { title: 'keeps apart an id and its negative', id: -id, plant: plantWith({ name: 'check 3' }) },

    // After a valid request, because a broken cache accepts any token after a valid one.
    ...operations.flatMap(({ operationId, method, path: template }) => {
      // With an id that no client can know: a version that accepts every token must not damage a client's plant.
      const path = template.replaceAll(/\{\w+\}/g, String(rejectedId));
      const of = { method, path, error: 401 };
      return [
        { title: `${operationId} rejects a request without a token`, headers: {}, ...of },
        { title: `${operationId} rejects an unknown token`, headers: bearer(UNKNOWN_TOKEN), ...of },
      ];
    }),
    {
      title: 'rejects an unknown token after "bearer"',
      headers: { Authorization: `bearer ${UNKNOWN_TOKEN}` },
      error: 401,
    },
    { title: 'rejects a token of another form', headers: bearer('letmein'), error: 401 },
    { title: 'rejects another scheme', headers: { Authorization: `Basic ${btoa('admin:letmein')}` }, error: 401 },
    ...(expiredToken ? [{ title: 'rejects an expired token', headers: bearer(expiredToken), error: 401 }] : []),
    ...(isDeployed ? [{ title: 'rejects the public token', headers: bearer(DEVELOPMENT_TOKEN), error: 401 }] : []),
    { title: 'rejects a bad body without a token', headers: {}, body: '{"id":', error: 401 },
    {
      title: 'accepts header names in lower case, and the scheme "bearer"',
      headers: { authorization: `bearer ${token}`, 'content-type': 'application/json' },
      id,
      plant: PLANT,
    },

    // With 19 digits, as a valid id can have.
    { title: 'rejects an id above int64', body: bodyOf(id + 2n ** 53n, PLANT), error: 400 },
    { title: 'rejects an id below int64', body: bodyOf(-id - 2n ** 53n, PLANT), error: 400 },
    { title: 'rejects an id in quotes', body: bodyOf(`"${rejectedId}"`, PLANT), error: 400 },
    { title: 'rejects an id with a fraction', body: bodyOf(`${safeId}.5`, PLANT), error: 400 },
    { title: 'accepts an id in the form 7.0', body: bodyOf(`${safeId}.0`, PLANT), id: safeId, plant: PLANT },
    { title: 'rejects a plant without a name', body: bodyOf(rejectedId, { ...PLANT, name: undefined }), error: 400 },
    { title: 'rejects null as tag', body: bodyOf(rejectedId, { ...PLANT, tag: null }), error: 400 },
    { title: 'rejects a lone surrogate', body: bodyOf(rejectedId, { ...PLANT, tag: '\ud800' }), error: 400 },
    {
      title: 'rejects a body that is not UTF-8',
      body: Buffer.from(bodyOf(rejectedId, { ...PLANT, name: '\xff' }), 'latin1'),
      error: 400,
    },
    { title: 'ignores unknown members', body: bodyOf(id, { ...PLANT, unknown: [null] }), id, plant: PLANT },
    { title: 'stores each character', id: id + 2n, plant: UNICODE },
    {
      title: 'does not normalize Unicode',
      body: bodyOf(id + 2n, { ...UNICODE, name: UNICODE.name.normalize() }),
      error: 409,
    },
    { title: 'stores an empty name', id: id + 3n, plant: plantWith({ name: '' }) },
    { title: 'stores a name of 60,000 characters', id: id + 4n, plant: plantWith({ name: '0123456789'.repeat(6000) }) },
    { title: 'rejects text/plain', headers: withType('text/plain'), body: bodyOf(rejectedId, PLANT), error: 415 },
    {
      title: 'accepts another Content-Type',
      headers: withType('APPLICATION/JSON ; charset="utf-8"'),
      id,
      plant: PLANT,
    },
    { title: 'rejects a body that is not JSON', body: '{"id":', error: 400 },
    {
      title: 'rejects more than 400 KB',
      body: bodyOf(rejectedId, { ...PLANT, name: 'x'.repeat(410_000) }),
      error: 413,
    },
    { title: 'has stored nothing that it rejected', id: rejectedId, plant: plantWith({ name: 'check 4' }) },

    { title: 'returns error 404 for an unknown path', path: '/none/a/b', body: '{}', error: 404 },
    { title: 'returns error 404 for an unknown method', method: 'PATCH', body: Uint8Array.of(0xff, 0), error: 404 },
    {
      title: 'does not let the client choose the request id',
      headers: { 'x-amzn-RequestId': CHOSEN_ID, 'x-amz-apigw-id': CHOSEN_ID },
      error: 401,
    },
  ];
  const headers = withType('application/json');
  return rows.map((row) => {
    const body = row.id !== undefined && row.plant ? bodyOf(row.id, row.plant) : '';
    return { method: 'POST', path: '/plants', headers, body, ...row };
  });
}
