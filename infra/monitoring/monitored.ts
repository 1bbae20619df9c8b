import type { Api } from '../api/api.ts';
import type { OperationFunction } from '../function/operation-function.ts';
import type { Release } from '../release/release.ts';
import type { Tables } from '../tables.ts';

/** The parts of the stack that are monitored. */
export interface Monitored {
  tables: Tables;
  functions: OperationFunction[];
  releases: Release[];
  api: Api;
}
