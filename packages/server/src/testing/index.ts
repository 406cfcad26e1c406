/** What the tests of a project take from the service. They run in Jest. */
export { describeList, type ListOptions } from './describe-list.js';
export { type Service, type StartOptions, startService } from './service.js';
