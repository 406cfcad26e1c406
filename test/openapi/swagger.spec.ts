import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module, Param, Query } from '@nestjs/common';
import { IsString } from 'class-validator';
import { PrimaryColumn } from 'typeorm';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createApplication } from '#server/application.js';
import {
  CredentialsQueryDto,
  identifierColumn,
  ObjectQueryDto,
  QueryOf,
  Resource,
  Returns,
} from '@catalogue/server';
import { Settings } from '#server/settings/settings.js';
import { PROJECT } from '../project.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';

/** The metadata that decorators of `@nestjs/swagger` 12.0.2 set. */
function onMethod(key: string): MethodDecorator {
  return (_, __, descriptor) => {
    Reflect.defineMetadata(`swagger/${key}`, {}, descriptor.value as object);
  };
}
const ApiOperation = onMethod('apiOperation');
const ApiOkResponse = onMethod('apiResponse');
const ApiQuery = onMethod('apiParameters');
const ApiTags: ClassDecorator = (target) => {
  Reflect.defineMetadata('swagger/apiUseTags', ['makers'], target);
};
const ApiExtraModels: ClassDecorator = (target) => {
  Reflect.defineMetadata('swagger/apiExtraModels', [], target);
};
const ApiProperty: PropertyDecorator = (prototype, name) => {
  Reflect.defineMetadata('swagger/apiModelPropertiesArray', [`:${String(name)}`], prototype);
  Reflect.defineMetadata('swagger/apiModelProperties', {}, prototype, name);
};

@Resource('test_swaggered')
class Swaggered {
  @ApiProperty
  @PrimaryColumn(identifierColumn)
  swaggeredID!: string;
}

class SwaggeredQuery extends CredentialsQueryDto {
  @ApiProperty declare page?: string;
}

class SwaggeredPath {
  @ApiProperty @IsString() country!: string;
}

class Inner {
  @ApiProperty @IsString() name!: string;
}

class Untyped {
  name!: string;
}

class OtherPath {
  @IsString() other!: string;
}

@QueryOf(Swaggered)
class GetSwaggeredDto extends ObjectQueryDto {}

@ApiTags
@ApiExtraModels
@Controller('test_swaggered')
class SwaggeredController {
  @ApiOperation @ApiOkResponse @ApiQuery @Get('all') all(@Query() query: SwaggeredQuery): object {
    return query;
  }

  @Returns(Inner) @Get('of/:country') of(@Param() path: SwaggeredPath): object {
    return path;
  }

  @Get('named/:name') named(@Param() path: OtherPath): object {
    return path;
  }

  @Get('bare/:name') bare(@Param() path: Untyped): object {
    return path;
  }

  @Returns(Untyped) @Get('untyped') untyped(): object {
    return {};
  }

  @Returns(Untyped) @Get('both') both(@Query() query: GetSwaggeredDto): object {
    return query;
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Swaggered])], controllers: [SwaggeredController] })
class SwaggeredModule {}

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('A decorator of another package is refused by the name of its metadata at the start, and so is a class that cannot be described', async () => {
  const settings = new Settings({ LOG_LEVEL: 'error', DATABASE_URL: database.url });
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const start = createApplication(PROJECT, database.url, settings, [SwaggeredModule]);
  const refusal = await start.then(
    () => 'It has started',
    (error: unknown) => (error as Error).message,
  );
  const unread = (what: string, key: string) =>
    `${what} has metadata of another package, swagger/${key}: nothing here reads it, so remove its decorator`;
  const untyped =
    'Untyped.name has no type: give it @IsString(), @IsInt(), @IsNumber(), @IsBoolean(), @IsEnum(), @IsIn(), @ValidateNested() with @Type(), or @Allow() for any value';
  expect(refusal.split('; ')).toEqual([
    unread('Swaggered', 'apiModelPropertiesArray'),
    unread('SwaggeredController', 'apiExtraModels'),
    unread('SwaggeredController', 'apiUseTags'),
    unread('SwaggeredController.all', 'apiParameters'),
    unread('SwaggeredController.all', 'apiResponse'),
    unread('SwaggeredController.all', 'apiOperation'),
    unread('SwaggeredQuery', 'apiModelPropertiesArray'),
    unread('SwaggeredPath', 'apiModelPropertiesArray'),
    `SwaggeredController.of returns a class: ${unread('Inner', 'apiModelPropertiesArray')}`,
    ...['named takes OtherPath', 'bare takes Untyped'].map(
      (what) =>
        `SwaggeredController.${what}, whose name needs a decorator of class-validator, such as @IsString()`,
    ),
    `SwaggeredController.untyped returns a class: ${untyped}`,
    'SwaggeredController.both has @Returns beside the query class GetSwaggeredDto: its objects are those of the entity in @QueryOf',
    `SwaggeredController.both returns a class: ${untyped}`,
  ]);
});
