import { createDataSource } from '@catalogue/server';

/** For the command line of TypeORM and for editors. */
export default await createDataSource(import.meta.dirname);
