import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Product } from './product.js';

/** The TypeORM module of a contender, with as many connections as the others have. */
export function database(): ReturnType<typeof TypeOrmModule.forRoot> {
  return TypeOrmModule.forRoot({
    type: 'postgres',
    url: process.env.DATABASE_URL,
    entities: [Product],
    poolSize: 10,
    installExtensions: false,
  });
}

/** Runs a contender's module on any free port, and prints its address. */
export async function serve(module: Type): Promise<void> {
  const application = await NestFactory.create(module, { logger: ['fatal'] });
  await application.listen(0, '127.0.0.1');
  console.log(await application.getUrl());
}
