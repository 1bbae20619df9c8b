// Generated from openapi.yaml by contract/generate.ts (npm run generate). Do not edit.
export declare const operations: import('./contract-checks.ts').CheckedOperation[];
