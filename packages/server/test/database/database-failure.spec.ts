import { describe, expect, it } from '@jest/globals';
import { apiErrorOf } from '#server/http/error.filter.js';

const failure = (fields: object, message = 'failed') => Object.assign(new Error(message), fields);

describe('A failure of the database', () => {
  it.each([
    ['a query past its time', failure({ code: '57014' }), -3],
    ['a deadlock of others that a reader got into', failure({ code: '40P01' }), -4],
    ['a conflict with what a replica must do', failure({ code: '40001' }), -4],
    ['a server that goes down', failure({ code: '57P01', severity: 'FATAL' }), -2],
    ['a server that is not there', failure({ code: 'ECONNREFUSED' }), -2],
    ['no free connection', failure({}, 'timeout exceeded when trying to connect'), -4],
    ['a mistake of ours', failure({ code: '42601', severity: 'ERROR' }), -1],
  ])('%s', (_, thrown, errcode) => {
    expect(apiErrorOf(thrown).errcode).toBe(errcode);
    expect(apiErrorOf(failure({ driverError: thrown })).errcode).toBe(errcode);
  });

  it.each([
    ['ECONNREFUSED', '1'],
    ['57014', '5'],
    ['40P01', '1'],
  ])('that may pass says when to try again: %s', (code, seconds) => {
    expect(apiErrorOf(failure({ code })).headers).toEqual({ 'Retry-After': seconds });
  });
});
