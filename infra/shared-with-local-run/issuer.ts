/** The form of an identity provider's URL, to which the path of its metadata is added. */
export const ISSUER = /^https:\/\/[\w.-]+(:\d+)?(\/[^\s?#]*)?$/;
