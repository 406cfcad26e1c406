/** The methods of every endpoint, as a list of HTTP. */
export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';
