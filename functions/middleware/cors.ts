import httpCors from '@middy/http-cors';
import { optionalVariable } from '../environment.ts';
import { EXPOSED_HEADERS } from '../errors.ts';

export function cors() {
  const origins = optionalVariable('ALLOW_ORIGINS')?.split(',');
  // For Middy, an empty list is no middleware.
  return origins ? httpCors({ origins, exposeHeaders: EXPOSED_HEADERS }) : [];
}
