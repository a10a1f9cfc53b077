/** The pages read JSON pointers with the same code as the server. */
export { fragmentKeys } from '../../../core/json-pointer.ts';
