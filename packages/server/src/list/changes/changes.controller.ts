import { Controller, Get, Query } from '@nestjs/common';
import { ChangesQueryDto } from './changes-query.dto.js';

/** What changed in several resources, of one moment. */
@Controller('changes')
export class ChangesController {
  /** Describes it, and reads nothing: `ChangesReader` finds out what a client sees of it. */
  @Get()
  list(@Query() query: ChangesQueryDto): ChangesQueryDto {
    return query;
  }
}
