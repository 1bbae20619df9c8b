import { type Check, type CheckRequest, tokenChecks } from '../shared/checks.ts';
import type { Plant } from './contract.generated.js';

/** The plant of the checks. */
export const PLANT: Plant = { name: 'Check', tag: 'check' };
/** Spaces, a letter of two code points, and characters that need escaping. */
const UNICODE: Plant = { name: ' e\u0301🌱"\\\u0000\u2028 ', tag: '植物\n' };

const post = (body: string | Uint8Array, headers = {}): CheckRequest => ({
  method: 'POST',
  path: '/plants',
  headers,
  body,
});
/** A body with an id as text, because `JSON.stringify` cannot write a bigint. */
const bodyOf = (id: bigint | string, members: object) => `{"id":${id},${JSON.stringify(members).slice(1)}`;
export const plus = (more: bigint) => (id: bigint) => id + more;

/** Makes a check that creates a plant. `idOf` returns its id from that of the run. */
export const creates = (title: string, plant: Plant, idOf: (id: bigint) => bigint | string, headers = {}): Check => ({
  title,
  request: (id) => post(bodyOf(idOf(id), plant), headers),
  expected: { body: plant },
});

const conflicts = (title: string, plant: Plant, idOf: (id: bigint) => bigint): Check => ({
  title,
  request: (id) => post(bodyOf(idOf(id), plant)),
  expected: { error: 409 },
});

/** The id of all plants that must not be stored. The last check creates a plant with it. */
const rejectedId = plus(9n);
const rejects = (title: string, error: number, bodyWith: (id: bigint) => string | Uint8Array, headers = {}): Check => ({
  title,
  request: (id) => post(bodyWith(id), headers),
  expected: { error },
});
const rejectsMembers = (title: string, members: object) => rejects(title, 400, (id) => bodyOf(rejectedId(id), members));
const rejectsId = (title: string, idOf: (id: bigint) => string) => rejects(title, 400, (id) => bodyOf(idOf(id), PLANT));

/** A negative safe integer that no client can know. */
const safeInteger = (id: bigint) => -(id >> 10n);

/** The checks of createPlant, in the order in which they run. */
export const createPlantChecks: Check[] = [
  creates('creates a plant', PLANT, plus(0n)),
  creates('creates the same plant again', PLANT, plus(0n)),
  conflicts('rejects a name that differs only in case', { ...PLANT, name: 'check' }, plus(0n)),
  conflicts('rejects the same plant without its tag', { name: PLANT.name }, plus(0n)),
  creates('keeps apart two ids beyond 2^53 that differ by one', { name: 'check 2' }, plus(1n)),
  creates('keeps apart an id and its negative', { name: 'check 3' }, (id) => -id),
  ...tokenChecks((id) => post(bodyOf(rejectedId(id), PLANT))),
  {
    title: 'accepts the scheme "bearer" in lower case',
    request: (id, token) => post(bodyOf(id, PLANT), { Authorization: `bearer ${token}` }),
    expected: { body: PLANT },
  },
  rejects('checks the token before the body', 401, () => '{"id":', { Authorization: '' }),
  // With 19 digits, as a valid id can have.
  rejectsId('rejects an id above int64', (id) => String(id + 2n ** 53n)),
  rejectsId('rejects an id below int64', (id) => String(-id - 2n ** 53n)),
  rejectsId('rejects an id in quotes', (id) => `"${rejectedId(id)}"`),
  rejectsId('rejects an id with a fraction', (id) => `${safeInteger(id)}.5`),
  creates('accepts an id in the form 7.0', PLANT, (id) => `${safeInteger(id)}.0`),
  rejectsMembers('rejects a plant without a name', { tag: 'check' }),
  rejectsMembers('rejects null as tag', { name: 'check', tag: null }),
  rejectsMembers('rejects a lone surrogate', { name: 'check', tag: '\ud800' }),
  rejects('rejects a body that is not UTF-8', 400, (id) =>
    Buffer.from(bodyOf(rejectedId(id), { name: '\xff' }), 'latin1'),
  ),
  {
    title: 'ignores unknown members',
    request: (id) => post(bodyOf(id, { ...PLANT, 'unknown member of a check': [null] })),
    expected: { body: PLANT },
  },
  creates('stores each character', UNICODE, plus(2n)),
  conflicts('does not normalize Unicode', { ...UNICODE, name: UNICODE.name.normalize('NFC') }, plus(2n)),
  creates('stores an empty name and an empty tag', { name: '', tag: '' }, plus(3n)),
  rejects('rejects the Content-Type text/plain', 415, (id) => bodyOf(rejectedId(id), PLANT), {
    'Content-Type': 'text/plain',
  }),
  creates('accepts parameters and upper case in the Content-Type', PLANT, plus(0n), {
    'Content-Type': 'APPLICATION/JSON ; charset="utf-8"',
  }),
  rejects('rejects a body that is not JSON', 400, () => '{"id":'),
  rejects('rejects a plant of more than 400 KB', 413, (id) => bodyOf(rejectedId(id), { name: 'x'.repeat(410_000) })),
  creates('has stored nothing that it rejected', { name: 'check 4' }, rejectedId),
];
