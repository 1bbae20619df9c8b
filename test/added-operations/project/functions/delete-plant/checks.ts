import { type Check, tokenChecks } from '../shared/checks.ts';

const deletion = (id: bigint) => ({ method: 'DELETE', path: `/plants/${id}` });

export const deletePlantChecks: Check[] = [
  { title: 'returns error 404 for an unknown id', request: (id) => deletion(id + 100n), expected: { error: 404 } },
  ...tokenChecks(deletion),
];
