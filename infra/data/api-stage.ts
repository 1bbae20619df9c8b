/** API Gateway's stage, the first part of the path of each URL. */
export const API_STAGE = 'v1';
